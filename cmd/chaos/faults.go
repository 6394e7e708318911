package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// fault is a failure that the harness causes and repairs.
type fault struct {
	name string
	// in lists the topologies in which the fault makes sense; nil means all.
	in []topology
	// inflict causes and repairs the fault. It returns a description.
	inflict func(f *faults) (string, error)
}

// faults inflicts faults on a world, one after another.
type faults struct {
	w      *world
	random *rand.Rand
	// excused is the number of requests that may have arrived again because of the
	// faults.
	excused int
}

// ackWait is how long NATS waits for a worker's acknowledgement or progress before it
// delivers the message to another worker (events/jetstream).
const ackWait = 10 * time.Second

// table lists the faults. A likely fault occurs several times.
func table() []fault {
	external := []topology{fleet, cluster}
	return []fault{
		{"a worker is killed", nil, killWorker},
		{"a worker is killed", nil, killWorker},
		{"an api is killed", external, killAPI},
		{"everything but NATS is killed", external, killAll},
		{"a worker is stopped and started", nil, restartWorker},
		{"a worker is paused for longer than the ack wait", nil, pauseWorker},
		{"an api is paused", external, pauseAPI},
		{"NATS is killed", external, killNATS},
		{"NATS is restarted", external, restartNATS},
		{"NATS is paused", external, pauseNATS},
		{"a nats-server loses its disk", []topology{cluster}, wipeNATS},
		{"a Gridhook is cut off from NATS", external, cutOff},
		{"a Gridhook's bbolt files are damaged", nil, damageFiles},
		{"a Gridhook's bbolt files are damaged", nil, damageFiles},
		{"a receiver fails", nil, failReceiver},
		{"a receiver fails", nil, failReceiver},
		{"every receiver fails while a worker is killed", nil, failAllAndKill},
	}
}

// tableOf returns the faults of a topology.
func tableOf(t topology) []fault {
	var list []fault
	for _, f := range table() {
		fits := f.in == nil
		for _, in := range f.in {
			fits = fits || in == t
		}
		if fits {
			list = append(list, f)
		}
	}
	return list
}

func pick[T any](f *faults, from []T) T { return from[f.random.IntN(len(from))] }

// between returns a random duration.
func (f *faults) between(least, most time.Duration) time.Duration {
	return least + time.Duration(f.random.Int64N(int64(most-least)+1))
}

// excuse allows for the work in flight of a number of workers. Each slot has a slice with
// two endpoints. Half as many retries have as many homes.
func (f *faults) excuse(workers int) {
	f.excused += workers * (slots*sliceSize*2 + max(1, slots/2)*sliceSize)
}

func (f *faults) workers() []*node { return f.w.those((*node).delivers) }

func (f *faults) killNode(n *node) (string, error) {
	down := f.between(0, time.Second)
	n.kill()
	time.Sleep(down)
	return fmt.Sprintf("%s, back after %s", n.name, down.Round(time.Millisecond)), n.start()
}

func killWorker(f *faults) (string, error) {
	f.excuse(1)
	return f.killNode(pick(f, f.workers()))
}

func killAPI(f *faults) (string, error) {
	return f.killNode(pick(f, f.w.those((*node).servesAPI)))
}

func killAll(f *faults) (string, error) {
	f.excuse(len(f.workers()))
	for _, n := range f.w.nodes {
		n.kill()
	}
	return fmt.Sprintf("%d processes", len(f.w.nodes)), startAll(f.w.nodes)
}

func restartWorker(f *faults) (string, error) {
	n := pick(f, f.workers())
	if err := n.stop(); err != nil {
		return "", err
	}
	return n.name, n.start()
}

func pauseWorker(f *faults) (string, error) {
	n, d := pick(f, f.workers()), f.between(ackWait+time.Second, ackWait+3*time.Second)
	f.excuse(1)
	return fmt.Sprintf("%s, for %s", n.name, d.Round(time.Millisecond)), n.pause(d)
}

func pauseAPI(f *faults) (string, error) {
	n, d := pick(f, f.w.those((*node).servesAPI)), f.between(time.Second, 6*time.Second)
	return fmt.Sprintf("%s, for %s", n.name, d.Round(time.Millisecond)), n.pause(d)
}

func killNATS(f *faults) (string, error) {
	f.excuse(len(f.workers()))
	what, err := f.killNode(pick(f, f.w.nats))
	if err == nil {
		err = f.w.clusterWhole()
	}
	return what, err
}

func restartNATS(f *faults) (string, error) {
	n, down := pick(f, f.w.nats), f.between(0, 3*time.Second)
	f.excuse(len(f.workers()))
	if err := n.stop(); err != nil {
		return "", err
	}
	time.Sleep(down)
	err := n.start()
	if err == nil {
		err = f.w.clusterWhole()
	}
	return fmt.Sprintf("%s, back after %s", n.name, down.Round(time.Millisecond)), err
}

func pauseNATS(f *faults) (string, error) {
	n, d := pick(f, f.w.nats), f.between(time.Second, 6*time.Second)
	f.excuse(len(f.workers()))
	return fmt.Sprintf("%s, for %s", n.name, d.Round(time.Millisecond)), n.pause(d)
}

func wipeNATS(f *faults) (string, error) {
	n := pick(f, f.w.nats)
	f.excuse(len(f.workers()))
	n.kill()
	if err := os.RemoveAll(n.data); err != nil {
		return "", err
	}
	if err := n.start(); err != nil {
		return "", err
	}
	return n.name, f.w.clusterWhole()
}

// cutOff interrupts a Gridhook's connections to NATS in one of three ways.
func cutOff(f *faults) (string, error) {
	ways := map[line]string{lineCut: "connections closed", lineDead: "nothing passes", lineMute: "nothing comes back"}
	n, how, d := pick(f, f.w.nodes), pick(f, []line{lineCut, lineDead, lineMute}), f.between(time.Second, ackWait+2*time.Second)
	if n.delivers() {
		f.excuse(1)
	}
	for _, p := range n.lines {
		p.set(how)
	}
	time.Sleep(d)
	for _, p := range n.lines {
		p.set(lineUp)
	}
	return fmt.Sprintf("%s, %s for %s", n.name, ways[how], d.Round(time.Millisecond)), nil
}

// damageFiles kills a Gridhook and deletes, truncates or flips bits of its bbolt files.
func damageFiles(f *faults) (string, error) {
	n := pick(f, f.w.nodes)
	if n.delivers() {
		f.excuse(1)
	}
	n.kill()
	what := n.name
	for _, path := range n.files() {
		how, err := f.damage(path)
		if err != nil {
			return "", err
		}
		what += ", " + how
	}
	return what, n.start()
}

func (f *faults) damage(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	switch f.random.IntN(4) {
	case 0:
		return "one deleted", os.Remove(path)
	case 1:
		return "one cut short", os.Truncate(path, f.random.Int64N(info.Size()))
	case 2:
		b, err := os.ReadFile(path) //nolint:gosec // it is one of ours
		if err != nil {
			return "", err
		}
		for range 3 {
			b[f.random.IntN(len(b))] ^= 1 << f.random.IntN(8)
		}
		return "one with three bits flipped", os.WriteFile(path, b, 0o600)
	}
	return "one spared", nil
}

func failReceiver(f *faults) (string, error) {
	p := f.w.partners[f.random.IntN(len(f.w.partners)-1)] // the last partner is hopeless anyway
	e, m, d := pick(f, p.endpoints), pick(f, badMoods), f.between(2*time.Second, 5*time.Second)
	e.setMood(m)
	time.Sleep(d)
	e.setMood(moodWell)
	return fmt.Sprintf("%s responds %s for %s", e.name, m, d.Round(time.Millisecond)), nil
}

// failAllAndKill kills a worker that has retries in flight. The receivers first fail and
// then do not respond to the retries.
func failAllAndKill(f *faults) (string, error) {
	each := func(m mood) {
		for _, p := range f.w.partners[:len(f.w.partners)-1] {
			for _, e := range p.endpoints {
				e.setMood(m)
			}
		}
	}
	m := pick(f, badMoods)
	each(m)
	defer each(moodWell)
	time.Sleep(f.between(time.Second, 2*time.Second))
	each(moodHang)
	time.Sleep(f.between(time.Second, 2*time.Second))
	what, err := killWorker(f)
	return fmt.Sprintf("all respond %s, then nothing; %s", m, what), err
}
