package embedded

import "fmt"

// Usage is how much of the disk JetStream's files take and may take, in bytes.
type Usage struct{ Used, Limit uint64 }

// Usage asks the server how full its store is.
func (s *Server) Usage() (Usage, error) {
	info, err := s.running().Jsz(nil)
	if err != nil {
		return Usage{}, fmt.Errorf("the embedded nats-server does not tell how full it is: %w", err)
	}
	return Usage{Used: info.Store, Limit: uint64(max(info.Config.MaxStore, 0))}, nil
}
