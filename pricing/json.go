package pricing

import (
	"strconv"
	"time"
)

// Meta is what differs between two homes that have the same curve.
type Meta struct {
	RatePlanID  string // empty when unknown, written as null
	GeneratedAt time.Time
	Sequence    uint64 // rises with every change of the home's signal
}

// AppendFields appends the fields of a price signal that the curve decides,
// from startTime to import, without the enclosing braces: they are encoded once
// and shared by every home with this curve.
func (c *Curve) AppendFields(dst []byte) []byte {
	dst = append(dst, `"startTime":"`...)
	dst = appendTimestamp(dst, c.Window.Start)
	dst = append(dst, `","endTime":"`...)
	dst = appendTimestamp(dst, c.Window.End)
	dst = append(dst, `","data":[`...)
	dst = c.appendData(dst)
	dst = append(dst, `],"prices":[`...)
	dst = appendNumbers(dst, c.Price)
	dst = append(dst, `],"export":[`...)
	dst = appendNumbers(dst, c.Export)
	dst = append(dst, `],"import":[`...)
	dst = appendNumbers(dst, c.Import)
	return append(dst, ']')
}

// appendData appends one object per interval. The values of a tariff repeat for
// hours, so their text is copied from the interval before when they are equal.
func (c *Curve) appendData(dst []byte) []byte {
	stamp := newTimestamps(c.Window.Start)
	from, to := 0, 0 // where in dst the values of the last interval are
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

// AppendSignal appends the price signal of a home as one JSON object.
// curveFields is what c.AppendFields appended.
func AppendSignal(dst []byte, homeID string, curveFields []byte, c *Curve, m Meta) []byte {
	dst = append(dst, '{')
	dst = AppendSignalFields(dst, homeID, curveFields, c, m)
	return append(dst, '}')
}

// AppendSignalFields is AppendSignal without the enclosing braces, for a signal
// that is part of a larger object.
func AppendSignalFields(dst []byte, homeID string, curveFields []byte, c *Curve, m Meta) []byte {
	dst = appendHomeID(dst, homeID)
	dst = append(dst, curveFields...)
	dst = c.appendSources(dst, m.RatePlanID)
	return appendMoment(dst, m)
}

// AppendShared appends everything that the price signals of homes with this curve
// and rate plan have in common, to be encoded once for all of them.
func (c *Curve) AppendShared(dst []byte, ratePlanID string) []byte {
	return c.appendSources(c.AppendFields(dst), ratePlanID)
}

// AppendSharedSignal is AppendSignalFields on what AppendShared appended. Of m,
// the rate plan has no effect: it is in shared.
func AppendSharedSignal(dst []byte, homeID string, shared []byte, m Meta) []byte {
	dst = appendHomeID(dst, homeID)
	dst = append(dst, shared...)
	return appendMoment(dst, m)
}

func appendHomeID(dst []byte, homeID string) []byte {
	dst = append(dst, `"homeId":`...)
	dst = appendString(dst, homeID)
	return append(dst, ',')
}

// appendSources appends the metadata that the curve and the rate plan decide.
func (c *Curve) appendSources(dst []byte, ratePlanID string) []byte {
	dst = append(dst, `,"metadata":{"exportCompensation":`...)
	dst = c.ExportCompensation.appendJSON(dst, ratePlanID)
	dst = append(dst, `,"importSource":`...)
	return appendString(dst, c.ImportSource)
}

// appendMoment appends the metadata that differ between homes and moments.
func appendMoment(dst []byte, m Meta) []byte {
	dst = append(dst, `,"generatedAt":"`...)
	dst = appendTimestamp(dst, m.GeneratedAt)
	dst = append(dst, `","sequence":`...)
	dst = strconv.AppendUint(dst, m.Sequence, 10)
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
