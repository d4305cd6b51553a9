// The reference is for reading: it sends no requests to the API, so there is nothing to authorize.
const readOnly = () => ({wrapComponents: {authorizeBtn: () => () => null}});

SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [readOnly],
});
