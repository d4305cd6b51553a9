/** The states of jobs. */
export const STATES = ['WAITING', 'PENDING', 'RUNNING', 'RETRYING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
export const ACTIVE = ['WAITING', 'PENDING', 'RUNNING', 'RETRYING'];
export const DEAD = ['FAILED', 'CANCELLED'];
