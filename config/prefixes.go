package config

import (
	"errors"
	"net/netip"
)

// Prefixes is a list of address ranges.
type Prefixes []netip.Prefix

var errPrefixes = errors.New("must be addresses or ranges such as 10.0.0.0/8 or 2001:db8::1, comma-separated")

// UnmarshalText parses a comma-separated list of ranges. An address is a range of one
// address.
func (p *Prefixes) UnmarshalText(text []byte) error {
	*p = nil
	for _, item := range List(string(text)) {
		prefix, err := netip.ParsePrefix(item)
		if addr, noRange := netip.ParseAddr(item); noRange == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || prefix.Addr().Is4In6() || prefix != prefix.Masked() {
			return errPrefixes
		}
		*p = append(*p, prefix)
	}
	return nil
}
