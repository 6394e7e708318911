package embedded

import "fmt"

// Usage is the size and the limit of JetStream's files, in bytes.
type Usage struct{ Used, Limit uint64 }

// Usage returns the size of the server's store and its limit.
func (s *Server) Usage() (Usage, error) {
	info, err := s.running().Jsz(nil)
	if err != nil {
		return Usage{}, fmt.Errorf("read the usage of the embedded nats-server: %w", err)
	}
	return Usage{Used: info.Store, Limit: uint64(max(info.Config.MaxStore, 0))}, nil
}
