package jetstream

import (
	"testing"

	"pgregory.net/rapid"
)

// However slots take, finish, are freed and find nothing: while there is room one waits,
// there are never more than may be, and where nothing comes one is left.
func TestCrew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &crew{slots: rapid.IntRange(1, 5).Draw(t, "slots")}
		c.begins()
		busy := 0
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"take", "finish", "nothing"}).Draw(t, "step") {
			case "take":
				if c.waiting > 0 {
					c.took()
					busy++
				}
			case "finish": // or freed: another goroutine waits in the slot
				if busy > 0 {
					c.waits()
					busy--
				}
			case "nothing":
				if c.waiting > 0 {
					c.mayLeave()
				}
			}
			if c.running != busy+c.waiting || c.running > c.slots || c.waiting == 0 && busy < c.slots {
				t.Fatalf("%d of %d run, %d wait, %d are busy", c.running, c.slots, c.waiting, busy)
			}
		}
		for ; busy > 0; busy-- {
			c.waits()
		}
		for range 5 {
			c.mayLeave()
		}
		if c.running != 1 || c.waiting != 1 {
			t.Fatalf("in the end %d run, and %d wait", c.running, c.waiting)
		}
	})
}
