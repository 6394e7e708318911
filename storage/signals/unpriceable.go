package signals

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing"
)

// Unpriceable says why a home has no price signal. Gridhook never invents a price
// instead.
type Unpriceable struct {
	// Field is the field of the home or of the request to change.
	Field  string
	Reason string
}

func (u *Unpriceable) Error() string { return u.Reason }

// unpriceable turns an error of package pricing into an *Unpriceable. start is the
// caller's name for the window's start.
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
