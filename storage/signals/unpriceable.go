package signals

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Unpriceable says why a home has no price signal. It is never papered over
// with an invented price.
type Unpriceable struct {
	// Field is what would have to change, as a field of the home or of the
	// request.
	Field  string
	Reason string
}

func (u *Unpriceable) Error() string { return u.Reason }

// unpriceable is what an error of package pricing says of a home; start is the
// name that the window's start has for whoever asks.
func unpriceable(err error, start string) error {
	var notInForce *pricing.NotInForceError
	var noMarket *pricing.NoMarketError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &notInForce):
		return &Unpriceable{start, strings.TrimPrefix(err.Error(), "pricing: ")}
	case errors.As(err, &noMarket):
		return &Unpriceable{"ratePlanId", fmt.Sprintf(
			"no market data: no price of node %q in the market %s is known or can be forecast for %s: import its marketSeries",
			noMarket.Node, noMarket.Kind, noMarket.At.UTC().Format(time.RFC3339))}
	}
	return &Unpriceable{"ratePlanId", err.Error()}
}
