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
		return func(b []byte) []byte { return append(signal.AppendOpenADR(append(b, '['), c.now), ']') }, nil
	case !in.Explain:
		return func(b []byte) []byte { return signal.Append(b, c.now) }, nil
	}
	explained, err := json.Marshal(explain(reasons))
	if err != nil {
		return nil, err
	}
	return func(b []byte) []byte {
		b = append(signal.AppendFields(append(b, '{'), c.now), `,"explanation":`...)
		return append(append(b, explained...), '}')
	}, nil
}
