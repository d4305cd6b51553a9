/** What can be asked of a worker, each with what it does. */
import { html } from 'lit';
import { ask } from './dialogs.js';
import { post } from './server.js';

export const COMMANDS = {
  pause: ['Pause', 'It finishes its running jobs and claims no more until it is resumed.'],
  resume: ['Resume', 'It claims jobs again. If its process was stopped or has failed, it is started.'],
  restart: ['Restart', 'Its process gets time to finish its jobs, ends, and is replaced by a new one.'],
  stop: ['Stop', 'Its process gets time to finish its jobs and ends. No process is started until it is resumed.'],
};

async function command(worker, action, view) {
  const [title, text] = COMMANDS[action];
  await ask({
    title: `${title} ${worker.component}?`,
    text,
    reason: true,
    confirm: title,
    danger: action === 'stop',
    act: async ({ reason }) => {
      await post(`/v1/workers/${encodeURIComponent(worker.component)}/${action}`, { supervisor: worker.supervisor, ...(reason ? { reason } : {}) });
      return `Sent ${action} to ${worker.component}`;
    },
  });
  view.refresh(0);
}

/** Those that make sense as it is. */
export function commandButtons(worker, view) {
  const down = worker.pausedByOperator || worker.stoppedByOperator || worker.status === 'failed';
  const actions = down ? ['resume', ...(worker.stoppedByOperator ? [] : ['restart', 'stop'])] : ['pause', 'restart', 'stop'];
  return html`<span class="buttons">${actions.map((action) => html`<button type="button" class="small ${action === 'stop' ? 'danger' : ''}" aria-label="${COMMANDS[action][0]} ${worker.component}" @click=${() => command(worker, action, view)}>${COMMANDS[action][0]}</button>`)}</span>`;
}
