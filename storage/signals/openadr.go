package signals

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// AppendOpenADR appends the signal as an event of OpenADR 3.1 (OpenADR Alliance,
// OpenADR 3.1.0 Definition and its enumerations), one interval a quarter hour with
// the payloads PRICE (what a kWh drawn costs) and EXPORT_PRICE (what one sent out
// earns), in USD per KWH, and GHG (what a kWh more emits, g/kWh) where the home's
// place is known. The program is the rate plan, the target the home.
func (s *Signal) AppendOpenADR(dst []byte, generatedAt time.Time) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, s.eventID()...)
	dst = append(dst, `","createdDateTime":"`...)
	dst = generatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
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

// eventID is the same for the same home, window and revision.
func (s *Signal) eventID() string {
	name := s.HomeID + " " + strconv.FormatUint(s.Revision, 10) + " " + strconv.FormatInt(s.Window.Start.Unix(), 10) + " " + strconv.FormatInt(s.Window.End.Unix(), 10)
	sum := sha256.Sum256([]byte(name))
	const enough = 12
	return "event_" + hex.EncodeToString(sum[:enough])
}

// encodeOpenADR encodes what the homes with this curve share of their events.
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
