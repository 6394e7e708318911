package embedded_test

import (
	"reflect"
	"testing"

	"github.com/gridhook/gridhook/pricing/internal/embedded"
	"github.com/gridhook/gridhook/pricing/internal/embedded/pack"
)

type table struct {
	Names  []string
	Values [2][3]int32
	Empty  []string
}

func TestDecode_RoundTrip(t *testing.T) {
	want := []table{{Names: []string{"a", "b"}, Values: [2][3]int32{{1, -2, 3}, {0, 0, 6}}}, {}}
	packed, err := pack.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := embedded.Decode[[]table]("tables", packed); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestDecode_Damaged(t *testing.T) {
	packed, err := pack.Encode([]table{{Names: []string{"a"}}})
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(packed) {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("cut at %d: accepted", cut)
				}
			}()
			embedded.Decode[[]table]("tables", packed[:cut])
		}()
	}
}
