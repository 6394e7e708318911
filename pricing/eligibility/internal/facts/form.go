package facts

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// maxSize bounds the unpacked form.
const maxSize = 16 << 20

// Encode is the compact form of the facts.
func Encode(f *Facts) ([]byte, error) {
	header, err := json.Marshal(f.Tables)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	plain := append(header, '\n')
	plain = binary.AppendUvarint(plain, uint64(len(f.Zips)))
	for column := range len(new(Zip).columns()) {
		previous := 0
		for i := range f.Zips {
			value := *f.Zips[i].columns()[column]
			plain = binary.AppendVarint(plain, int64(value-previous))
			previous = value
		}
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	return packed.Bytes(), nil
}

// Decode reads what Encode wrote, and checks that every index points into its
// table.
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
	for column := range len(new(Zip).columns()) {
		value := int64(0)
		for i := range zips {
			step, n := binary.Varint(columns)
			if n <= 0 {
				return nil, fmt.Errorf("facts: column %d ends early", column)
			}
			columns = columns[n:]
			value += step
			*zips[i].columns()[column] = int(value)
		}
	}
	return zips, nil
}

func (f *Facts) check() error {
	for _, set := range f.Territories {
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
