package signals

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/gridhook/gridhook/storage"
)

// AppendOpenADR appends the signal as an event of OpenADR 3.1 (OpenADR Alliance, OpenADR
// 3.1.0 Definition and its enumerations). The event has one interval per quarter hour.
// PRICE is the cost of a kWh drawn and EXPORT_PRICE the revenue of a kWh sent out, both
// in USD per KWH. GHG is the marginal emission in g/kWh, included if the home's place is
// known. The program is the rate plan. The target is the home.
func (s *Signal) AppendOpenADR(dst []byte, generatedAt time.Time) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, s.eventID()...)
	dst = append(dst, `","createdDateTime":"`...)
	dst = s.day().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","modificationDateTime":"`...)
	dst = generatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","objectType":"EVENT","programID":"`...)
	dst = append(dst, programID(s.RatePlanID)...) // identifiers need no escape
	dst = append(dst, `","eventName":"price signal of `...)
	dst = append(dst, s.HomeID...)
	dst = append(dst, `","targets":["`...)
	dst = append(dst, s.HomeID...)
	dst = append(dst, `"],`...)
	dst = append(dst, s.EncodedOpenADR()...)
	return append(dst, '}')
}

// day returns the UTC day on which the signal's window starts. All signals of a home and
// day are the same event. A change only gives the event a newer modificationDateTime.
func (s *Signal) day() time.Time { return s.Window.Start.UTC().Truncate(24 * time.Hour) }

// eventID returns an identifier that depends on the home and the day only.
func (s *Signal) eventID() string {
	return "event_" + storage.Hash(s.HomeID+" "+s.day().Format(time.DateOnly), 12)
}

// encodeOpenADR encodes the part of the events that the homes of this curve share.
func (c *Curve) encodeOpenADR() []byte {
	channels := priceChannels(&c.Curve)
	if grams := c.Emissions(); grams != nil {
		channels = append(channels, emissionChannel(grams))
	}
	text, _ := json.Marshal(newADRSeries(c.Window, channels, 1)) // prices always encode
	return text[1 : len(text)-1]
}
