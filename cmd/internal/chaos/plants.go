package main

// plant is a bug that the harness must find.
type plant struct {
	name string
	// changes bring it into the source.
	changes []change
	// failpoint is the one whose visits bring it to light, where kills by chance
	// seldom would.
	failpoint string
	// powerCuts says that only power cuts bring it to light, not kills.
	powerCuts bool
	// only is part of the names of the faults that bring it to light.
	only string
	// cycles is how many of them bring it to light, as a rule.
	cycles int
	// breaks are the invariants of which at least one must be found broken.
	breaks []string
}

const nothing = "nothing"

// plants are the bugs, after one that is none: in it nothing must be found.
func plants() []plant {
	return []plant{
		{name: nothing, cycles: 6, only: "killed"},
		{
			name:      "ack-before-post",
			failpoint: "again",
			breaks:    []string{"I1"},
			changes: []change{{
				file: "events/jetstream/queue.go",
				old:  "	stop := keepAlive(m)\n",
				new:  "	_ = m.DoubleAck(ctx)\n	stop := keepAlive(m)\n",
			}},
		},
		{
			name:   "answer-before-ack",
			cycles: 6, only: "killed",
			breaks: []string{"I1", "I9"},
			changes: []change{
				{
					file: "events/jetstream/bus.go",
					old:  "func (c *Conn) Accept(",
					new:  "func (c *Conn) acceptAndWait(",
				},
				{file: "events/jetstream/planted.go", new: `package jetstream

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/events"
)

// Accept answers before the trigger is stored.
func (c *Conn) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	if t.OnceKey != "" {
		return c.acceptAndWait(ctx, t)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, _ = c.acceptAndWait(context.WithoutCancel(ctx), t)
	}()
	return 0, nil
}
`},
			},
		},
		{
			name:   "random-webhook-id",
			cycles: 2, only: "killed",
			breaks: []string{"I2"},
			changes: []change{
				{
					file: "events/message.go",
					old:  "	sum := sha256.Sum256(buf)\n",
					new:  "	buf = append(buf, salt()...)\n	sum := sha256.Sum256(buf)\n",
				},
				{file: "events/planted.go", new: "package events\n\nimport \"time\"\n\nfunc salt() string { return time.Now().String() }\n"},
			},
		},
		{
			name:   "body-not-signed",
			cycles: 1, only: "killed",
			breaks: []string{"I3"},
			changes: []change{{
				file: "dispatcher/sign.go",
				old:  "	h.Write(body)\n",
				new:  "	_ = body\n",
			}},
		},
		{
			name:   "cursor-before-apply",
			cycles: 6, only: "killed",
			breaks: []string{"I1", "I7"},
			changes: []change{
				{
					file: "storage/replica/apply.go",
					old:  "	err := r.file.Update(func(tx *boltfile.Tx) error {\n",
					new:  "	r.planted(last)\n	err := r.file.Update(func(tx *boltfile.Tx) error {\n",
				},
				{file: "storage/replica/planted.go", new: `package replica

import (
	"encoding/binary"
	"time"

	"github.com/gridhook/gridhook/storage/boltfile"
)

// planted notes that what was not applied yet was.
func (r *Replica) planted(last uint64) {
	_ = r.file.Update(func(tx *boltfile.Tx) error {
		return tx.Put(metaBucket, revisionKey, binary.BigEndian.AppendUint64(nil, last))
	})
	time.Sleep(time.Second)
}
`},
			},
		},
	}
}

// lazySync is the bug that a power cut must bring to light.
func lazySync() plant {
	return plant{
		name: "lazy-sync", powerCuts: true, cycles: 3,
		breaks: []string{"I0", "I1", "I9"},
		changes: []change{{
			file: "events/embedded/server.go",
			old:  "		SyncAlways:        true,\n",
			new:  "		SyncAlways:        false,\n",
		}},
	}
}
