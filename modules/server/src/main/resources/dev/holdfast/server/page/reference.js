// The reference is for reading: it sends no requests to the API, so there is nothing to authorize.
const readOnly = () => ({wrapComponents: {authorizeBtn: () => () => null}});

// Swagger UI has no table of contents: a list of its sections, one per tag, stands beside it.
function showSections() {
  const link = (name, target) => {
    const a = document.createElement('a');
    a.href = '#/' + name;
    a.textContent = name;
    a.addEventListener('click', (event) => {
      event.preventDefault();
      document.querySelector(target)?.scrollIntoView();
    });
    return a;
  };
  const tags = [...document.querySelectorAll('.opblock-tag[data-tag]')].map((each) => each.dataset.tag);
  document.getElementById('sections').replaceChildren(
    ...tags.map((tag) => link(tag, `.opblock-tag[data-tag="${tag}"]`)),
    link('schemas', 'section.models'),
  );
}

SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [readOnly],
  onComplete: showSections,
});
