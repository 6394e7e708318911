package main

import (
	"io"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/pricing"
)

// explanation prints a row for each change of a price or of its reason.
func explanation(w io.Writer, s client.Signal) {
	row(w, "FROM", "TO", "PRICE $/kWh", "IMPORT", "EXPORT", "WHY")
	for i := 0; i < len(s.Data) && i < len(s.Explanation); {
		first, why := s.Data[i], reason(s.Explanation[i])
		last := first
		for ; i < len(s.Data) && i < len(s.Explanation) && why.SameAs(reason(s.Explanation[i])); i++ {
			last = s.Data[i]
		}
		row(w, moment(first.StartTime), moment(last.EndTime), rate(first.Price), rate(first.Import), rate(first.Export), why)
	}
}

// reason converts a reason to package pricing, which formats it.
func reason(r client.Reason) pricing.Reason {
	return pricing.Reason{
		Start: r.StartTime.Time, Tariff: r.Tariff, Day: r.Day, Calendar: r.Calendar, Period: r.Period, Tier: r.Tier, Import: r.Import, Export: r.Export,
		Parts: r.Parts, ExportChance: r.ExportChance, Measured: r.Measured, Carbon: r.Carbon, Price: r.Price, Confidence: r.Confidence, Doubt: r.Doubt,
	}
}
