package signals

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Events returns the events of a program at a time: the days, and the alerts of its rate
// plan and the plan's parts that have not ended.
func (r *Reader) Events(p *Program, now time.Time) ([]DayEvent, error) {
	list := p.Days(now)
	if p.Region != nil {
		return list, nil
	}
	alerts, err := r.alerts(p)
	if err = homeError(err); err != nil {
		if IsDataError(err) { // broken alerts must not hide the days
			err = nil
		}
		return list, err
	}
	named := map[string]bool{}
	for _, alert := range alerts {
		if alert.Window.End.After(now) && !named[alert.ID] {
			named[alert.ID] = true
			list = append(list, alert)
		}
	}
	return list, nil
}

// alerts returns the alerts of a program's rate plan and the plan's parts. An alert appears
// at the last write of the plan's events, if that is before the midnight of its event.
func (r *Reader) alerts(p *Program) (list []DayEvent, err error) {
	of, err := r.plan(p.RatePlanID)
	if err != nil {
		return nil, err
	}
	plans := []*plan{of}
	for i := range of.parts {
		plans = append(plans, of.parts[i].plan)
	}
	for _, of := range plans {
		events, err := r.pricedEvents(of)
		if err != nil {
			return nil, err
		}
		written := r.latest(time.Time{}, []storage.Ref{storage.KindPlanEvent.Ref(of.record.Org, of.record.ID)})
		for _, e := range events {
			if e.Kind != pricing.FlexAlert {
				continue
			}
			alert := p.event(pricing.Window{Start: e.From, End: e.To}, fmt.Sprintf("%08x", e.From.Unix()))
			alert.Alert = e.Name
			alert.Created = storage.Earlier(alert.Created, written)
			list = append(list, alert)
		}
	}
	return list, nil
}

type (
	adrAlert struct {
		OpenADRHead
		Period    OpenADRPeriod      `json:"intervalPeriod"`
		Intervals []adrAlertInterval `json:"intervals"`
	}
	adrAlertInterval struct {
		ID       int            `json:"id"`
		Payloads []adrAttribute `json:"payloads"`
	}
)

// encodeAlert encodes an alert. Its text is the payload.
func encodeAlert(head OpenADRHead, d *DayEvent) (EncodedEvent, error) {
	length := strings.ToUpper("PT" + d.Window.End.Sub(d.Window.Start).String())
	text, err := json.Marshal(&adrAlert{
		OpenADRHead: head, Period: OpenADRPeriod{storage.Time{Time: d.Window.Start}, length},
		Intervals: []adrAlertInterval{{Payloads: []adrAttribute{{"ALERT_FLEX_ALERT", []any{d.Alert}}}}},
	})
	return EncodedEvent{JSON: text, Fingerprint: storage.Hash(length+d.Alert, 8)}, err
}
