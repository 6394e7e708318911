package signals

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Events returns the events of a program at a time: the days, and the alerts of its rate
// plan and the plan's parts that have not ended.
func (r *Reader) Events(org string, p *Program, now time.Time) ([]DayEvent, error) {
	list := p.Days(now)
	if p.Region != nil {
		return list, nil
	}
	alerts, err := r.alerts(org, p.RatePlanID)
	if err = homeError(err); err != nil {
		if IsDataError(err) { // broken alerts must not hide the days
			err = nil
		}
		return list, err
	}
	named := map[string]bool{}
	for _, e := range alerts {
		if !e.To.After(now) {
			continue
		}
		alert := p.event(pricing.Window{Start: e.From, End: e.To}, fmt.Sprintf("%08x", e.From.Unix()))
		if alert.Alert = e.Name; !named[alert.ID] {
			list = append(list, alert)
		}
		named[alert.ID] = true
	}
	return list, nil
}

// alerts returns the alerts of a plan and its parts.
func (r *Reader) alerts(org, planID string) (list []pricing.Event, err error) {
	of, err := r.plan(org, planID)
	if err != nil {
		return nil, err
	}
	plans := []*plan{of}
	for i := range of.parts {
		plans = append(plans, of.parts[i].plan)
	}
	for _, p := range plans {
		events, err := r.pricedEvents(p)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Kind == pricing.FlexAlert {
				list = append(list, e)
			}
		}
	}
	return list, nil
}

type (
	adrAlert struct {
		adrHead
		Period    adrPeriod          `json:"intervalPeriod"`
		Intervals []adrAlertInterval `json:"intervals"`
	}
	adrAlertInterval struct {
		ID       int            `json:"id"`
		Payloads []adrAttribute `json:"payloads"`
	}
)

// encodeAlert encodes an alert. Its text is the payload.
func encodeAlert(head adrHead, d *DayEvent) (EncodedEvent, error) {
	length := strings.ToUpper("PT" + d.Window.End.Sub(d.Window.Start).String())
	text, err := json.Marshal(&adrAlert{
		adrHead: head, Period: adrPeriod{storage.Time{Time: d.Window.Start}, length},
		Intervals: []adrAlertInterval{{Payloads: []adrAttribute{{"ALERT_FLEX_ALERT", []any{d.Alert}}}}},
	})
	sum := sha256.Sum256([]byte(length + d.Alert))
	return EncodedEvent{JSON: text, Fingerprint: hex.EncodeToString(sum[:8])}, err
}
