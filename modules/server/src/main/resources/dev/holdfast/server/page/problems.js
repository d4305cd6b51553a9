/** Problems in words, each with what to do about it as buttons. The server sends a code and what it is about. */
import { html, nothing } from 'lit';
import { bulk } from './bulk.js';
import { ask, attempt } from './dialogs.js';
import { clipped, count, moment } from './format.js';
import { copyButton } from './parts.js';
import { post } from './server.js';

const jobs = (n) => `${count(n)} ${n === 1 ? 'job' : 'jobs'}`;
const is = (n, one, several) => (n === 1 ? one : several);
const show = (search, text = 'Show these jobs') => ({ text, href: `#/jobs?${new URLSearchParams({ search })}` });
const go = (href, text) => ({ text, href });
const copy = (command) => ({ command });

const queueVerb = (verb) => ({ queue }) => ({
  text: verb === 'pause' ? 'Pause queue' : 'Resume queue',
  all: true,
  act: () => attempt(() => post(`/v1/queues/${encodeURIComponent(queue)}/${verb}`), `Queue ${queue} is ${verb}d`),
});
const pauseQueue = queueVerb('pause');
const resumeQueue = queueVerb('resume');

const workerVerb = (action, text) => ({ worker, supervisor }) => ({
  text,
  all: true,
  act: () =>
    ask({
      title: `${text.replace(' worker', '')} ${worker}?`,
      text: action === 'resume' ? 'It claims jobs again. If its process was stopped or has failed, it is started.' : 'Its process gets time to finish its jobs, and ends.',
      reason: true,
      confirm: text,
      danger: action === 'stop',
      act: async ({ reason }) => {
        await post(`/v1/workers/${encodeURIComponent(worker)}/${action}`, { supervisor, ...(reason ? { reason } : {}) });
        return `Sent ${action} to ${worker}`;
      },
    }),
});
const resumeWorker = workerVerb('resume', 'Resume worker');
const startWorker = workerVerb('resume', 'Start worker');
const restartWorker = workerVerb('restart', 'Restart worker');
const stopWorker = workerVerb('stop', 'Stop worker');
const workers = go('#/workers', 'Show workers');
/** Its page has its log, and how its processes ended. */
const oneWorker = ({ worker, supervisor }) => (supervisor ? go(`#/workers/${encodeURIComponent(worker)}?${new URLSearchParams({ supervisor })}`, 'Show worker') : copy(`holdfast logs ${worker}`));

const resumeAllWorkers = {
  text: 'Resume all workers',
  all: true,
  act: () => attempt(() => post('/v1/workers/resume', {}), 'All workers are resumed'),
};

const pauseSchedule = ({ schedule }) => ({
  text: 'Pause schedule',
  all: true,
  act: () => attempt(() => post(`/v1/schedules/${encodeURIComponent(schedule)}/pause`), `Schedule ${schedule} is paused`),
});

const retryAll = (search) => ({ text: 'Retry all …', act: () => bulk('retry', { search }) });

const dispatch = (text) => (p) => ({
  text: `${text.replace('%', `'${p.queue}'`)}, since ${moment(p.since)}: ${p.reason}${p.circuitOpen ? '; the circuit breaker is open, with single tries up to a minute apart' : ''}`,
  todo: [show(`queue:${p.queue}`), pauseQueue(p)],
});

/** With its supervisor where workers of several have the same name. */
const named = ({ worker, supervisor, nameShared }) => (nameShared ? `${worker} of supervisor '${supervisor}'` : worker);

/** Of each code what it says, and what can be done. */
const WORDS = {
  all_paused: (p) => ({ text: `All workers are paused since ${moment(p.since)}, and ${jobs(p.jobs)} ${is(p.jobs, 'waits', 'wait')}`, todo: [resumeAllWorkers, show('state:pending')] }),
  queue_paused: (p) => ({ text: `Queue '${p.queue}' is paused and ${jobs(p.jobs)} ${is(p.jobs, 'waits', 'wait')} in it`, todo: [resumeQueue(p), show(`queue:${p.queue} state:pending`)] }),
  queue_stalled: (p) =>
    p.pushed
      ? { text: `${jobs(p.jobs)} of queue '${p.queue}' ${is(p.jobs, 'is', 'are')} due and no server pushes ${is(p.jobs, 'it', 'them')}`, todo: [show(`queue:${p.queue} state:pending`)] }
      : { text: `${jobs(p.jobs)} of queue '${p.queue}' ${is(p.jobs, 'is', 'are')} due and no worker takes ${is(p.jobs, 'it', 'them')}`, todo: [show(`queue:${p.queue} state:pending`), pauseQueue(p), copy(`holdfast worker --queue ${p.queue}`)] },
  worker_paused: (p) => ({ text: `${named(p)} is paused and jobs of its queue wait`, todo: [resumeWorker(p), show(`queue:${p.queue} state:pending`)] }),
  worker_stopped: (p) => ({ text: `${named(p)} is stopped, jobs of its queue wait, and no other worker serves it`, todo: [startWorker(p), show(`queue:${p.queue} state:pending`)] }),
  worker_failed: (p) => ({ bad: true, text: `${named(p)} has failed and is not restarted any more: ${p.reason ?? 'for an unknown reason'}`, todo: [startWorker(p), oneWorker(p)] }),
  worker_crash_loop: (p) => ({ bad: true, text: `${named(p)} keeps crashing: ${p.reason ?? 'for an unknown reason'}; restarted ${count(p.restarts)} times${p.nextRestart ? `, again at ${moment(p.nextRestart)}` : ''}`, todo: [stopWorker(p), oneWorker(p)] }),
  worker_starting: (p) => ({ text: `${named(p)} has been starting for more than ${p.seconds} seconds`, todo: [restartWorker(p), oneWorker(p)] }),
  worker_not_processing: (p) => ({ text: `${named(p)} is idle although jobs of its queue have waited for more than ${p.seconds} seconds`, todo: [restartWorker(p), show(`queue:${p.queue} state:pending`), oneWorker(p)] }),
  handler_overdue: (p) => ({ text: `${named(p)} is healthy, but ${p.reason}`, todo: [restartWorker(p)] }),
  worker_silent: (p) => ({ text: p.pushed ? `A worker that gets pushed tasks of queue '${p.queue}' has stopped reporting; its jobs are requeued` : `${named(p)} has stopped reporting; its jobs are requeued`, todo: [workers] }),
  supervisor_silent: (p) => ({ bad: true, text: `Supervisor '${p.supervisor}' has stopped reporting, with ${count(p.workers)} ${is(p.workers, 'worker', 'workers')}; their jobs are requeued`, todo: [workers] }),
  kind_unhandled: (p) => ({ text: `${jobs(p.jobs)} of kind '${p.kind}' in queue '${p.queue}' ${is(p.jobs, 'waits', 'wait')} and no worker handles ${is(p.jobs, 'it', 'them')}`, todo: [show(`queue:${p.queue} kind:${p.kind} state:pending`)] }),
  version_unserved: (p) => ({ text: `${jobs(p.jobs)} of kind '${p.kind}' in queue '${p.queue}' ${is(p.jobs, 'has', 'have')} begun with version ${p.version}, which no worker has since ${moment(p.since)}`, todo: [show(`queue:${p.queue} kind:${p.kind}`)] }),
  toxic_jobs: (p) => ({ bad: true, text: `${jobs(p.jobs)} crashed ${is(p.jobs, 'its', 'their')} workers too often and failed within the last hour`, todo: [show('state:failed code:TOXIC_JOB')] }),
  jobs_failed: (p) => ({ bad: true, text: `${jobs(p.jobs)} failed within the last hour`, todo: [go('#/failures', 'Show failures'), show('state:failed'), retryAll('state:failed')] }),
  leases_overdue: (p) => ({ bad: true, text: `${jobs(p.jobs)} ${is(p.jobs, 'runs', 'run')} under expired leases, and no reaper requeues ${is(p.jobs, 'it', 'them')}`, todo: [show('state:running')] }),
  waits_unanswered: (p) => ({ text: `${jobs(p.jobs)} ${is(p.jobs, 'asks', 'ask')} somebody, and nobody has answered for more than ${count(p.seconds / 3600)} hours`, todo: [show('waits:approval', 'Show the questions')] }),
  schedule_broken: (p) => ({ text: `Schedule '${p.schedule}' cannot be fired: ${p.reason}`, todo: [go('#/schedules', 'Show schedules'), pauseSchedule(p)] }),
  schedule_overdue: (p) => ({ text: `Schedule '${p.schedule}' was due at ${moment(p.since)} and nobody fired it`, todo: [go('#/schedules', 'Show schedules')] }),
  dispatch_unreachable: dispatch('The worker that tasks of queue % are pushed to does not answer'),
  dispatch_failing: dispatch('The worker that tasks of queue % are pushed to accepts none'),
  dispatch_secret_refused: dispatch('The worker that tasks of queue % are pushed to refuses the dispatch secret'),
  dispatch_not_allowed: dispatch('Tasks of queue % would be pushed to a host that is not allowed'),
  notices_failing: (p) => ({ bad: true, text: `${count(p.notices)} ${is(p.notices, 'notice', 'notices')} of questions cannot be sent: ${p.reason}`, todo: [go('#/notices', 'Show notices'), show('waits:approval', 'Show the questions')] }),
  notices_given_up: (p) => ({ bad: true, text: `${count(p.notices)} ${is(p.notices, 'notice', 'notices')} of open questions could not be sent for a day, and will not be any more`, todo: [go('#/notices', 'Show notices'), show('waits:approval', 'Show the questions')] }),
  notifications_lost: () => ({ text: 'Notifications of the database do not arrive: new jobs are found by polling, up to a second late. Connect to PostgreSQL directly, or through a pooler in session mode', todo: [] }),
};

/** A problem of a newer server is shown in the server's words. */
function worded(problem) {
  const p = problem.parameters ?? {};
  const { text, todo = [], bad = false } = WORDS[problem.code]?.(p) ?? { text: problem.message, todo: p.queue ? [show(`queue:${p.queue}`)] : [] };
  return { text, todo, bad };
}

/** All jobs that failed, not only those of the last hour: they stay until somebody does something. */
export const failedJobs = (failed) => ({ code: 'jobs_failed', parameters: { jobs: failed.count }, text: `${count(failed.count)}${failed.more ? ' or more' : ''} failed ${is(failed.count, 'job', 'jobs')}` });

/** One row a problem. */
export function problemRow(problem, view) {
  const { text, todo, bad } = worded(problem);
  const done = (each) => async () => {
    await each.act();
    view.refresh(0);
  };
  return html`<li class=${bad ? 'bad' : 'warn'} data-code=${problem.code}>
    <span class="wrap">${clipped(problem.text ?? text, 600)}</span>
    <span class="todo">${todo.map((each) =>
      each.href
        ? html`<a class="button small" href=${each.href}>${each.text}</a>`
        : each.command
          ? html`<code>${each.command}</code> ${copyButton(each.command, 'command')}`
          : (each.all ? view.mayOperateAll : view.mayOperate)
            ? html`<button type="button" class="small" @click=${done(each)}>${each.text}</button>`
            : nothing)}</span></li>`;
}
