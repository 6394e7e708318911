package api

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// priceSignalInput asks for the price signal of a home.
type priceSignalInput struct {
	windowInput
	// Explain adds what the prices of each interval are made of.
	Explain bool `json:"explain"`
	// Format is how the signal is written, by default signal.
	Format storage.SignalFormat `json:"format"`
}

func (in *priceSignalInput) setDefaults() { in.Format = storage.FormatSignal }

func (in *priceSignalInput) check(s *server, c *call, p *problems) {
	in.windowInput.check(s, c, p)
	formats := storage.SignalFormats()
	p.Check(in.Format == formats[0] || in.Format == formats[1], "format", "must be one of %s", oneOf(formats))
	p.Check(!in.Explain || in.Format != storage.FormatOpenADR3, "explain", "cannot be given with the format %s", storage.FormatOpenADR3)
}

// signalRest is room enough for what a signal has beside its curve, in bytes.
const signalRest = 512

func (s *server) priceSignal(_ context.Context, c *call, in *priceSignalInput) (ready[PriceSignal], error) {
	var signal signals.Signal
	var reasons []pricing.Reason
	err := s.Store.View(func(v storage.View) (err error) {
		if signal, err = s.Book.HomeSignal(v, c.org, c.id, in.window); err == nil && in.Explain {
			reasons, err = s.Book.Explain(v, c.org, c.id, in.window)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case in.Format == storage.FormatOpenADR3:
		return append(signal.AppendOpenADR([]byte{'['}, c.now), ']'), nil
	case !in.Explain:
		return signal.Append(make([]byte, 0, len(signal.Encoded)+signalRest), c.now), nil
	}
	explained, err := json.Marshal(explain(reasons))
	if err != nil {
		return nil, err
	}
	answer := append(signal.AppendFields([]byte{'{'}, c.now), `,"explanation":`...)
	return append(append(answer, explained...), '}'), nil
}
