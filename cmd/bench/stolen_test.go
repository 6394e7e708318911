package main

import (
	"errors"
	"reflect"
	"testing"
)

func TestLeastStolen(t *testing.T) {
	list, stolen := leastStolen([]round[string]{{"a", 7}, {"b", 0.5}, {"c", 0}, {"d", 0.5}, {"e", 40}}, 3)
	if want := []string{"c", "b", "d"}; !reflect.DeepEqual(list, want) || stolen != 0.5 {
		t.Errorf("got %v, with %v %% stolen", list, stolen)
	}
}

func TestCalmest_Rounds(t *testing.T) {
	n := 0
	list, stolen, err := calmest(3, func() (int, error) { n++; return n, nil })
	if err != nil || len(list) != 3 || n < 3 || n > 12 || stolen < 0 || stolen > 100 {
		t.Errorf("%d rounds gave %v with %v %% stolen, %v", n, list, stolen, err)
	}
	failed := errors.New("failed")
	if _, _, err := calmest(3, func() (int, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
}
