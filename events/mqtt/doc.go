// Package mqtt publishes changes of OpenADR objects to MQTT subscribers.
//
// It may import events and storage.
package mqtt
