package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Print writes the report for people.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, %d CPUs, %s\n", r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go)
	if r.Machine.StolenPercent > 0 {
		fmt.Fprintf(&b, "the host kept %.1f %% of the processors to itself\n", r.Machine.StolenPercent)
	}
	if d := r.Delivery; d != nil {
		for _, one := range []*One{&d.One, &d.Small, &d.Many} {
			one.print(&b, "delivery")
		}
	}
	if t := r.TLS; t != nil {
		t.HTTP1.print(&b, "tls, HTTP/1.1")
		t.HTTP2.print(&b, "tls, HTTP/2")
		t.ManyHTTP1.print(&b, "tls, HTTP/1.1")
		t.ManyHTTP2.print(&b, "tls, HTTP/2")
	}
	if l := r.Latency; l != nil {
		fmt.Fprintf(&b, "\nlatency: %d triggers of one home\n  accepted       %s\n  first webhook  %s\n", l.Triggers, l.Accept, l.First)
	}
	if f := r.Fairness; f != nil {
		fmt.Fprintf(&b, "\nfairness: %d homes beside a walk of %d\n  last webhook after %.0f ms alone, %.0f ms beside\n", f.SmallHomes, f.BigHomes, f.Alone, f.Beside)
	}
	if i := r.Isolation; i != nil {
		fmt.Fprintf(&b, "\nisolation: %d homes beside %d of %d dead endpoints\n", i.Homes, i.DeadHomes, len(i.Faults))
		bars(&b, "deliveries/s", "alone", i.AlonePerSecond, "beside", i.BesidePerSecond)
		fmt.Fprintf(&b, "  ratio        %.2f; CPU per delivery %.0f µs alone; first webhook after %.1f ms alone, %.1f ms beside\n", i.Ratio, i.AloneCPU, i.AloneFirst, i.BesideFirst)
		fmt.Fprintf(&b, "  live heap    %.0f MB alone, %.0f MB beside; resident %.0f and %.0f MB\n",
			i.AloneMemory.LiveMB, i.BesideMemory.LiveMB, i.AloneMemory.ResidentMB, i.BesideMemory.ResidentMB)
	}
	if e := r.Estimates; e != nil {
		fmt.Fprintf(&b, "\nestimates: %d homes beside %d estimates of a year's savings, of %.0f ms each\n", e.Homes, e.Asked, e.EstimateMs)
		bars(&b, "deliveries/s", "alone", e.AlonePerSecond, "beside", e.BesidePerSecond)
		fmt.Fprintf(&b, "  ratio        %.2f; CPU per delivery %.0f µs alone\n", e.Ratio, e.AloneCPU)
	}
	if t := r.Tenants; t != nil {
		t.print(&b)
	}
	if p := r.Prices; p != nil {
		fmt.Fprintf(&b, "\npricing: one core\n  %9.0f distinct curves of a day a second, encoded\n  %9.0f home messages on one curve a second\n", p.DistinctPerSecond, p.SharedPerSecond)
	}
	if a := r.Reads; a != nil {
		a.print(&b)
	}
	if s := r.State; s != nil {
		fmt.Fprintf(&b, "\nstate: %d homes\n  %9.0f imported a second, durable\n  %9.0f a second into a new replica\n  %9.0f scanned a second\n",
			s.Homes, s.ImportPerSecond, s.ColdPerSecond, s.ScanPerSecond)
	}
	if m := r.Meters; m != nil {
		fmt.Fprintf(&b, "\nmeters: %d Green Button files of %.1f MB, a year of quarter hours each\n  %9.1f homes imported a second, %.0f ms CPU of the command each\n", m.Homes, m.FileMB, m.PerSecond, m.CPU)
	}
	if v := r.Retries; v != nil {
		v.print(&b)
	}
	if w := r.Workers; w != nil {
		w.print(&b)
	}
	if m := r.Million; m != nil {
		m.print(&b)
	}
	if a := r.OpenADR; a != nil {
		a.print(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (a *OpenADR) print(b *strings.Builder) {
	fmt.Fprintf(b, "\nopenadr: %d subscriptions on one receiver\n", a.Subscriptions)
	bars(b, "webhooks/s", "webhooks", a.Webhooks.PerSecond, "callbacks", a.Callbacks.PerSecond)
	fmt.Fprintf(b, "  webhooks     %s\n  callbacks    %s\n  ratio        %.2f, of CPU %.2f\n", a.Webhooks, a.Callbacks, a.Ratio, a.CPURatio)
}

func (t *Tenants) print(b *strings.Builder) {
	fmt.Fprintf(b, "\ntenants: an organization of %d homes beside a greedy one\n", t.Homes)
	for _, w := range []struct {
		name string
		Wait
	}{{"price signal", t.Signal}, {"estimate", t.Estimate}, {"trigger", t.Trigger}, {"deliveries", t.Deliveries}} {
		fmt.Fprintf(b, "  %-12s %8.1f ms alone %8.1f ms beside   ratio %.2f\n", w.name, w.AloneMs, w.BesideMs, w.Ratio)
	}
	fmt.Fprintf(b, "  the server used %.1f processors beside the greedy one\n  refusals     ", t.Processors)
	for _, name := range slices.Sorted(maps.Keys(t.LimitsReached)) {
		fmt.Fprintf(b, "%s %d  ", name, t.LimitsReached[name])
	}
	b.WriteString("\n")
}

func (d *One) print(b *strings.Builder, name string) {
	fmt.Fprintf(b, "\n%s: %d webhooks of %d bytes, %d endpoints, %d in flight, medians of %d rounds\n",
		name, d.Deliveries, d.BodyBytes, d.Endpoints, d.Connections, len(d.Rounds))
	most := max(d.CeilingPerSecond, d.DeliveriesPerSecond)
	bar(b, "bare client", d.CeilingPerSecond, most, "requests/s")
	bar(b, "gridhook", d.DeliveriesPerSecond, most, "deliveries/s")
	fmt.Fprintf(b, "  ratio        %.2f; CPU per delivery %.0f µs, bare client %.0f µs\n", d.Ratio, d.DeliveryCPU, d.CeilingCPU)
	if d.CeilingHTTP2 > 0 {
		fmt.Fprintf(b, "  connections  %d to each destination measure best for the bare client\n", d.CeilingHTTP2)
	}
}

func (r *Reads) print(b *strings.Builder) {
	fmt.Fprintf(b, "\napi: over %d connections\n", connections)
	for _, p := range r.Operations {
		fmt.Fprintf(b, "  %s, responses of %d bytes\n", p.Name, p.AnswerBytes)
		bars(b, "responses/s", "bare handler", p.CeilingPerSecond, "gridhook", p.PerSecond)
		fmt.Fprintf(b, "  ratio        %.2f\n  at half load %s; bare handler %s; %.1f %% of the processors stolen at most\n",
			p.Ratio, p.HalfLoad, p.CeilingHalfLoad, p.StolenPercent)
	}
}

// bars draws two figures, scaled to the larger.
func bars(b *strings.Builder, unit, name string, value float64, other string, than float64) {
	most := max(value, than)
	bar(b, name, value, most, unit)
	bar(b, other, than, most, unit)
}

// bar draws a figure, scaled to the largest of its kind.
func bar(b *strings.Builder, name string, value, most float64, unit string) {
	const width = 40
	filled := min(width, max(0, int(width*value/max(most, 1))))
	fmt.Fprintf(b, "  %-12s %s%s %9.0f %s\n", name, strings.Repeat("█", filled), strings.Repeat("·", width-filled), value, unit)
}
