package events

// MQTT topics of an organization's OpenADR notifications. Under each prefix follow the
// names of the OpenADR definition, such as programs/create or programs/ID/events/update.

// Topics returns the prefix of all topics of an organization.
func Topics(org string) string { return "openadr3/" + org + "/" }

// BusinessTopics returns the prefix of the topics with every object, for business logic.
func BusinessTopics(org string) string { return Topics(org) + "all/" }

// PublicTopics returns the prefix of the topics with programs and events without targets,
// for every VEN.
func PublicTopics(org string) string { return Topics(org) + "public/" }

// VENTopics returns the prefix of a VEN's own topics: the VEN itself, its resources, and
// the programs and events with a target that it was granted.
func VENTopics(org, venID string) string { return Topics(org) + "vens/" + venID + "/" }
