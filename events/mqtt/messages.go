package mqtt

import (
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// message is one message to publish. The broker retains the last event of each topic, except
// alerts, which would displace prices. An empty body removes a retained message.
type message struct {
	topic  string
	body   []byte
	retain bool
}

// messages returns the messages of a change. Business logic sees every object. VENs see
// programs and events that have no targets, or a target that they were granted, and their
// own VEN and resources.
func messages(v storage.View, org string, c *events.Change) ([]message, error) {
	plural, operation := strings.ToLower(string(c.ObjectType))+"s/", strings.ToLower(c.Operation)
	var list []message
	retain := c.ObjectType == storage.OpenADREvent && !c.Alert && !removed(v, org, c.ProgramID)
	add := func(prefix string, shown []string) {
		list = append(list, message{prefix + operation, c.AppendBody(nil, shown), retain})
	}
	everywhere := func(prefix string) {
		add(prefix+plural, c.Targets)
		switch {
		case c.ObjectType == storage.OpenADREvent:
			add(prefix+"programs/"+c.ProgramID+"/events/", c.Targets)
		case c.ObjectType == storage.OpenADRProgram && c.Operation != events.OperationCreate:
			add(prefix+plural+c.ObjectID+"/", c.Targets)
		}
	}
	if c.ObjectType == storage.OpenADRProgram && c.Operation == events.OperationDelete { // its events may have no targets
		for _, prefix := range []string{events.BusinessTopics(org), events.PublicTopics(org)} {
			for _, of := range []string{"create", "update", "delete"} {
				list = append(list, message{topic: prefix + plural + c.ObjectID + "/events/" + of, retain: true})
			}
		}
	}
	everywhere(events.BusinessTopics(org))
	switch c.ObjectType {
	case storage.OpenADRVEN:
		if c.Operation == events.OperationCreate {
			break // nobody knows its topics yet
		}
		add(events.VENTopics(org, c.ObjectID), c.Targets)
	case storage.OpenADRResource:
		add(events.VENTopics(org, storage.VENID(c.ClientID))+plural, c.Targets)
	case storage.OpenADRProgram, storage.OpenADREvent:
		if len(c.Targets) == 0 {
			everywhere(events.PublicTopics(org))
			break
		}
		err := eachGranted(v, org, c.Targets, func(venID string, shown []string) {
			add(events.VENTopics(org, venID)+plural, shown)
		})
		return list, err
	case storage.OpenADRReport, storage.OpenADRSubscription: // only business logic has topics of these
	}
	return list, nil
}

// removed reports whether business logic has deleted a program. A notification of a
// deleted event may follow the notification of its program.
func removed(v storage.View, org, programID string) bool {
	r, err := v.Get(storage.OpenADRRef(storage.OpenADRProgram, org, programID))
	if err != nil {
		return false // the program is derived
	}
	o, err := storage.Decode[storage.OpenADRObject](r)
	return err != nil || o.Removed
}

// eachGranted calls do for each VEN that was granted one of the targets.
func eachGranted(v storage.View, org string, targets []string, do func(venID string, shown []string)) error {
	for r, err := range storage.Live(v, storage.KindOpenADRVEN, org, "") {
		if err != nil {
			return err
		}
		o, err := storage.Decode[storage.OpenADRObject](r)
		if err != nil {
			continue // a damaged VEN has no rights
		}
		granted, err := storage.Granted(v, org, o.ClientID)
		if err != nil {
			return err
		}
		if shown, ok := storage.Shown(targets, targets, granted); ok {
			do(o.ID, shown)
		}
	}
	return nil
}
