package signals

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/pricing"
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
	dst = append(dst, s.RatePlanID...) // identifiers need no escape
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
	sum := sha256.Sum256([]byte(s.HomeID + " " + s.day().Format(time.DateOnly)))
	const enough = 12
	return "event_" + hex.EncodeToString(sum[:enough])
}

// encodeOpenADR encodes the part of the events that the homes of this curve share.
func (c *Curve) encodeOpenADR() []byte {
	grams := c.Emissions()
	dst := append([]byte(nil), `"payloadDescriptors":[`...)
	dst = appendDescriptor(dst, "PRICE", `"units":"KWH","currency":"USD"`)
	dst = appendDescriptor(append(dst, ','), "EXPORT_PRICE", `"units":"KWH","currency":"USD"`)
	if grams != nil {
		dst = appendDescriptor(append(dst, ','), "GHG", `"units":"GHG"`)
	}
	dst = append(dst, `],"intervalPeriod":{"start":"`...)
	dst = c.Window.Start.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","duration":"PT`...)
	dst = strconv.AppendInt(dst, int64(pricing.Interval/time.Minute), 10)
	dst = append(dst, `M"},"intervals":[`...)
	for i := range c.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"id":`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = appendPayload(append(dst, `,"payloads":[`...), "PRICE", c.Import[i])
		dst = appendPayload(append(dst, ','), "EXPORT_PRICE", c.Export[i])
		if grams != nil {
			dst = appendPayload(append(dst, ','), "GHG", grams[i])
		}
		dst = append(dst, `]}`...)
	}
	return append(dst, ']')
}

func appendDescriptor(dst []byte, payload, units string) []byte {
	dst = append(dst, `{"objectType":"EVENT_PAYLOAD_DESCRIPTOR","payloadType":"`...)
	dst = append(dst, payload...)
	dst = append(dst, `",`...)
	dst = append(dst, units...)
	return append(dst, '}')
}

func appendPayload(dst []byte, payload string, value float64) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, payload...)
	dst = append(dst, `","values":[`...)
	dst = strconv.AppendFloat(dst, value, 'f', -1, 64)
	return append(dst, `]}`...)
}
