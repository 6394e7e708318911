package pricing

import (
	"strconv"
	"time"
)

// AppendShared appends the shared part of the price signals of homes with this curve and
// rate plan. The part reaches from startTime to importSource and is encoded once for all
// these homes. An empty rate plan is written as null.
func (c *Curve) AppendShared(dst []byte, ratePlanID string) []byte {
	dst = append(dst, `"startTime":"`...)
	dst = AppendTimestamp(dst, c.Window.Start)
	dst = append(dst, `","endTime":"`...)
	dst = AppendTimestamp(dst, c.Window.End)
	dst = append(dst, `","data":[`...)
	dst = c.appendData(dst)
	dst = append(dst, `],"prices":[`...)
	dst = appendNumbers(dst, c.Price)
	dst = append(dst, `],"export":[`...)
	dst = appendNumbers(dst, c.Export)
	dst = append(dst, `],"import":[`...)
	dst = appendNumbers(dst, c.Import)
	dst = append(dst, `],"metadata":{"exportCompensation":`...)
	dst = c.ExportCompensation.appendJSON(dst, ratePlanID)
	dst = append(dst, `,"importSource":`...)
	return appendString(dst, c.ImportSource)
}

// appendData appends one object per interval. The values of a tariff repeat for hours.
// appendData therefore copies the text of equal values from the interval before.
func (c *Curve) appendData(dst []byte) []byte {
	stamp := newTimestamps(c.Window.Start)
	from, to := 0, 0 // position in dst of the last interval's values
	for i := range c.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"startTime":"`...)
		dst = append(dst, stamp.text[:]...)
		stamp.advance()
		dst = append(dst, `","endTime":"`...)
		dst = append(dst, stamp.text[:]...)
		start := len(dst)
		if i > 0 && c.sameValues(i-1, i) {
			dst = append(dst, dst[from:to]...)
		} else {
			dst = c.appendValues(dst, i)
		}
		from, to = start, len(dst)
	}
	return dst
}

func (c *Curve) sameValues(i, j int) bool {
	return c.Price[i] == c.Price[j] && c.Import[i] == c.Import[j] &&
		c.Export[i] == c.Export[j] && c.Confidence[i] == c.Confidence[j]
}

func (c *Curve) appendValues(dst []byte, i int) []byte {
	dst = append(dst, `","price":`...)
	dst = appendNumber(dst, c.Price[i])
	dst = append(dst, `,"import":`...)
	dst = appendNumber(dst, c.Import[i])
	dst = append(dst, `,"export":`...)
	dst = appendNumber(dst, c.Export[i])
	dst = append(dst, `,"confidence":`...)
	dst = appendNumber(dst, c.Confidence[i])
	return append(dst, '}')
}

// AppendSignal appends the fields of a home's price signal without the enclosing braces.
// shared is the output of AppendShared. sequence increases with every change of the signal.
func AppendSignal(dst []byte, homeID string, shared []byte, generatedAt time.Time, sequence uint64) []byte {
	dst = append(dst, `"homeId":`...)
	dst = appendString(dst, homeID)
	dst = append(dst, ',')
	dst = append(dst, shared...)
	dst = append(dst, `,"generatedAt":"`...)
	dst = AppendTimestamp(dst, generatedAt)
	dst = append(dst, `","sequence":`...)
	dst = strconv.AppendUint(dst, sequence, 10)
	return append(dst, '}')
}

func (e *ExportCompensation) appendJSON(dst []byte, ratePlanID string) []byte {
	dst = append(dst, `{"type":`...)
	dst = appendString(dst, string(e.Type))
	dst = append(dst, `,"source":`...)
	dst = appendString(dst, e.Source)
	dst = append(dst, `,"description":`...)
	dst = appendString(dst, e.Description)
	dst = append(dst, `,"ratePlanId":`...)
	dst = appendStringOrNull(dst, ratePlanID)
	dst = append(dst, `,"effectiveFrom":`...)
	dst = appendStringOrNull(dst, e.EffectiveFrom.String())
	dst = append(dst, `,"effectiveTo":`...)
	dst = appendStringOrNull(dst, e.EffectiveTo.String())
	return append(dst, '}')
}
