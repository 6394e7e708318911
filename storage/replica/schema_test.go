package replica

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/boltfile"
)

func TestRecord_DetectsDamage(t *testing.T) {
	want := storage.Record{
		Ref: storage.KindHome.Ref("org", "h"), Revision: 1<<63 + 5, First: 7, Deleted: true,
		At: time.UnixMilli(-1).UTC(), Value: []byte(`{"x":1}`),
	}
	b := encodeRecord(want)
	got, err := decodeRecord(want.Ref, b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if _, err := decodeRecord(want.Ref, b); !errors.Is(err, boltfile.ErrDamaged) {
				t.Errorf("bit %d of byte %d flipped: %v, want ErrDamaged", bit, i, err)
			}
			b[i] ^= 1 << bit
		}
	}
	for n := range b {
		if _, err := decodeRecord(want.Ref, b[:n]); !errors.Is(err, boltfile.ErrDamaged) {
			t.Errorf("cut off at %d: %v, want ErrDamaged", n, err)
		}
	}
}
