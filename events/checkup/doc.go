// Package checkup inspects the settings of an external NATS over the connection that
// Gridhook itself uses. It does not judge the settings. It changes nothing but its own
// trial stream, which it deletes afterwards.
package checkup
