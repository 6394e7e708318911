package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// clusterWhole waits until every stream of a cluster has a leader and all its replicas.
// An operator stops the next server only then.
func (w *world) clusterWhole() error {
	if len(w.nats) < 2 {
		return nil
	}
	nc, err := nats.Connect("nats://" + w.nats[0].api)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	for {
		problem := missing(js)
		if problem == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cluster does not become whole: %w", problem)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// missing returns an error that names a stream without a leader or with missing replicas.
func missing(js jetstream.JetStream) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	streams := 0
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		streams++
		if info.Cluster == nil || info.Cluster.Leader == "" {
			return fmt.Errorf("%s has no leader", info.Config.Name)
		}
		current := 1
		for _, r := range info.Cluster.Replicas {
			if r.Current && !r.Offline {
				current++
			}
		}
		if current < info.Config.Replicas {
			return fmt.Errorf("%s has %d of %d copies", info.Config.Name, current, info.Config.Replicas)
		}
	}
	if err := list.Err(); err != nil {
		return err
	}
	if streams == 0 {
		return errors.New("there are no streams")
	}
	return nil
}
