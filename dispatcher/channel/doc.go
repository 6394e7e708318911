// Package channel sends notices to notification channels: by email, and to receivers with
// the webhooks of Slack, Teams or Alertmanager.
//
// It may import storage, events and the other rooms of the dispatcher, except the worker.
package channel
