package facts

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxSize limits the unpacked size.
const maxSize = 16 << 20

// Decode reads the compact form of the facts, and checks all indexes against their
// tables.
func Decode(packed []byte) (*Facts, error) {
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpack, maxSize))
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	header, rest, found := bytes.Cut(plain, []byte{'\n'})
	if !found {
		return nil, fmt.Errorf("facts: no end of the tables")
	}
	f := &Facts{}
	if err := json.Unmarshal(header, &f.Tables); err != nil {
		return nil, fmt.Errorf("facts: tables: %w", err)
	}
	if f.Zips, err = decodeZips(rest); err != nil {
		return nil, err
	}
	return f, f.check()
}

func decodeZips(columns []byte) ([]Zip, error) {
	count, n := binary.Uvarint(columns)
	if n <= 0 || count > uint64(len(columns)) {
		return nil, fmt.Errorf("facts: bad number of zipcodes")
	}
	columns = columns[n:]
	zips := make([]Zip, count)
	for column := range len(new(Zip).Columns()) {
		value := int64(0)
		for i := range zips {
			step, n := binary.Varint(columns)
			if n <= 0 {
				return nil, fmt.Errorf("facts: column %d ends early", column)
			}
			columns = columns[n:]
			value += step
			*zips[i].Columns()[column] = int(value)
		}
	}
	return zips, nil
}

func (f *Facts) check() error {
	for i, set := range f.Territories {
		if i >= len(f.Shares) || len(f.Shares[i]) != len(set) {
			return fmt.Errorf("facts: territory %d has no shares", i)
		}
		for _, u := range set {
			if !within(u, len(f.Utilities)) {
				return fmt.Errorf("facts: no utility %d", u)
			}
		}
	}
	previous := -1
	for i := range f.Zips {
		z := &f.Zips[i]
		if z.Code <= previous || !within(z.City, len(f.Cities)) || !within(z.County, len(f.Counties)) ||
			!within(z.Zone, len(f.Zones)) || !within(z.Territory, len(f.Territories)) ||
			!within(z.Market, len(f.Markets)) || !within(z.Authority, len(f.Authorities)) {
			return fmt.Errorf("facts: zipcode %05d is out of order or points outside a table", z.Code)
		}
		previous = z.Code
	}
	return nil
}

func within(i, n int) bool { return i >= 0 && i < n }
