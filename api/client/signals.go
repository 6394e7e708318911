package client

import (
	"context"
	"encoding/json"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// Signal is a home's price signal. Rates are in $/kWh.
type Signal = wire.PriceSignal

// Reason lists the components of an interval's prices. The components add up to the
// prices.
type Reason = wire.PriceReason

// Interval is a quarter hour of a signal.
type Interval = wire.PriceInterval

// SignalMetadata names the sources of a signal's prices.
type SignalMetadata = wire.PriceSignalMetadata

// ExportCompensation describes the compensation of exported energy.
type ExportCompensation = wire.ExportCompensation

// Window is the time that a signal covers. Set both times, or neither for the next 24
// hours.
type Window = wire.Window

// ExplainedSignal returns a home's price signal with the components of each price.
func (c *Client) ExplainedSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return call[Signal](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", wire.PriceSignalInput{Window: w, Explain: true})
}

// OpenADRSignal returns a home's price signal as a list with one OpenADR 3 event.
func (c *Client) OpenADRSignal(ctx context.Context, homeID string, w Window) (json.RawMessage, error) {
	return call[json.RawMessage](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", wire.PriceSignalInput{Window: w, Format: storage.FormatOpenADR3})
}

// PriceSignal returns a home's price signal.
func (c *Client) PriceSignal(ctx context.Context, homeID string, w Window) (Signal, error) {
	return call[Signal](ctx, c, "/v1/homes/"+segment(homeID)+"/price_signal", w)
}
