package form_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/gridhook/gridhook/pricing/netbilling/internal/form"
	"github.com/gridhook/gridhook/pricing/netbilling/internal/gen/pack"
)

func table() form.Table {
	t := form.Table{Utility: "U", EIAID: 7, Vintages: []string{"A"}, FirstYear: 2026, Years: 2, ExactThrough: 2027}
	for i := range t.Years * form.PerYear {
		t.Values = append(t.Values, int32(i*i%1000-200))
	}
	return t
}

func TestForm_RoundTrip(t *testing.T) {
	want := []form.Table{table(), table()}
	packed, err := pack.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := form.Decode(packed)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDecode_Damaged(t *testing.T) {
	short := table()
	short.Values = short.Values[1:]
	if _, err := pack.Encode([]form.Table{short}); !errors.Is(err, form.ErrForm) {
		t.Errorf("got %v", err)
	}
	packed, err := pack.Encode([]form.Table{table()})
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(packed) {
		if _, err := form.Decode(packed[:cut]); !errors.Is(err, form.ErrForm) {
			t.Fatalf("cut at %d: got %v", cut, err)
		}
	}
}
