package main

import (
	"io"

	"github.com/gridhook/gridhook/api/client"
)

// explanation prints a row for each change of a price or of its reason.
func explanation(w io.Writer, s client.Signal) {
	row(w, "FROM", "TO", "PRICE $/kWh", "IMPORT", "EXPORT", "WHY")
	for i := 0; i < len(s.Data) && i < len(s.Explanation); {
		first, why := s.Data[i], s.Explanation[i].Reason
		last := first
		for ; i < len(s.Data) && i < len(s.Explanation) && why.SameAs(s.Explanation[i].Reason); i++ {
			last = s.Data[i]
		}
		row(w, moment(first.StartTime), moment(last.EndTime), rate(first.Price), rate(first.Import), rate(first.Export), why)
	}
}
