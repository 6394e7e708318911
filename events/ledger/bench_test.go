package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/events"
)

// BenchmarkFold_Receipts folds receipts of slices with 64 deliveries each.
func BenchmarkFold_Receipts(b *testing.B) {
	l := newLedger(b)
	tr := trigger("org", "trg_01M7YDEW9M1369VPJYNH7DJVSQ", 0, 1_000_000)
	accept(b, l, tr)
	const batch = 256
	number := 0
	texts := make([][]byte, batch)
	for b.Loop() {
		b.StopTimer()
		for i := range texts {
			var deliveries []events.Delivery
			for h := range events.SliceHomes {
				d := delivery(fmt.Sprintf("home_%09d", number*events.SliceHomes+h), events.OutcomeDelivered, 1)
				d.EndpointID, d.Status, d.Milliseconds = "ep_01M7YDEW9M1369VPJYNH7DJVSQ", 204, 1.5
				deliveries = append(deliveries, d)
			}
			texts[i], _ = json.Marshal(slice(tr, number, false, deliveries...))
			number++
		}
		b.StartTimer()
		list := make([]events.Sequenced[events.Receipt], batch)
		for i, text := range texts {
			if err := json.Unmarshal(text, &list[i].Value); err != nil {
				b.Fatal(err)
			}
			list[i].Sequence, list[i].Data = uint64(number+i), text
		}
		must(b, l.foldReceipts(list))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(number), "us/receipt")
}

// BenchmarkFind_Delivery searches the deliveries of a million homes.
func BenchmarkFind_Delivery(b *testing.B) {
	l := newLedger(b)
	tr := trigger("org", "trg_01M7YDEW9M1369VPJYNH7DJVSQ", 0, 1_000_000)
	accept(b, l, tr)
	home := func(i int) string { return fmt.Sprintf("home_%09d", i) }
	const slicesAtOnce, total = 512, 1_000_000 / events.SliceHomes
	for number := 0; number < total; {
		var list []events.Receipt
		for ; number < total && len(list) < slicesAtOnce; number++ {
			var deliveries []events.Delivery
			for h := range events.SliceHomes {
				d := delivery(home(number*events.SliceHomes+h), events.OutcomeDelivered, 1)
				d.EndpointID, d.Status, d.Milliseconds = "ep_1", 204, 1.5
				d.MessageID = events.MessageID(tr.ID, d.HomeID, d.EndpointID)
				deliveries = append(deliveries, d)
			}
			list = append(list, slice(tr, number, number == total-1, deliveries...))
		}
		fold(b, l, list...)
	}
	b.Run("by message", func(b *testing.B) {
		for b.Loop() {
			_, err := l.Delivery("org", events.MessageID(tr.ID, home(987_654), "ep_1"))
			must(b, err)
		}
	})
	b.Run("by home", func(b *testing.B) {
		for b.Loop() {
			list, _, err := l.Deliveries("org", events.DeliveryQuery{HomeID: home(987_654), Limit: 10})
			if err != nil || len(list) != 1 {
				b.Fatal(list, err)
			}
		}
	})
	b.Run("an outcome without deliveries", func(b *testing.B) {
		for b.Loop() {
			list, _, err := l.Deliveries("org", events.DeliveryQuery{Outcomes: []events.Outcome{events.OutcomeFailed}, Limit: 10})
			if err != nil || len(list) != 0 {
				b.Fatal(list, err)
			}
		}
	})
}

// BenchmarkFold_Replays folds the receipts of replays of 20 endpoints, of 64 homes each.
func BenchmarkFold_Replays(b *testing.B) {
	l := newLedger(b)
	tr := trigger("org", "trg_01M7YDEW9M1369VPJYNH7DJVSQ", 0, events.SliceHomes)
	accept(b, l, tr)
	const endpoints = 20
	var first []events.Delivery
	replays := make([]events.Receipt, endpoints)
	for e := range endpoints {
		for h := range events.SliceHomes {
			d := delivery(fmt.Sprintf("home_%09d", h), events.OutcomeExpired, 1)
			d.EndpointID = fmt.Sprintf("ep_%02d", e)
			first = append(first, d)
			d.Attempt = 2
			replays[e].Deliveries = append(replays[e].Deliveries, d)
		}
	}
	slices.SortStableFunc(first, func(a, b events.Delivery) int { return strings.Compare(a.HomeID, b.HomeID) })
	fold(b, l, slice(tr, 0, true, first...))
	run := 0
	for b.Loop() {
		run++
		for e := range replays {
			replays[e] = retry(tr, fmt.Sprintf("ep_%02d.2.again.%d", e, run), replays[e].Deliveries...)
		}
		must(b, l.foldReceipts(sequenced(replays)))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(run*endpoints*events.SliceHomes), "us/delivery")
}
