package rest

import "sync"

// Shares counts something in all, and of each owner. The zero value has counted nothing.
type Shares struct {
	mu    sync.Mutex
	total int64
	by    map[string]int64 // by owner
}

// share is the divisor of a limit for one organization, or for one client address.
const share = 4

// Take counts n of an owner until release is called, which may be repeated. It counts nothing
// if refuse returns an error. refuse gets the total count and the owner's count.
func (s *Shares) Take(owner string, n int64, refuse func(total, own int64) error) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := refuse(s.total, s.by[owner]); err != nil {
		return nil, err
	}
	s.add(owner, n)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(owner, -n)
	}), nil
}

// TakeOne takes one unless the owner has most already. Errors: full.
func (s *Shares) TakeOne(owner string, most int64, full *Problem) (release func(), err error) {
	return s.Take(owner, 1, func(_, own int64) error {
		if own >= most {
			return full
		}
		return nil
	})
}

func (s *Shares) add(owner string, n int64) {
	if s.by == nil {
		s.by = map[string]int64{}
	}
	s.total += n
	if s.by[owner] += n; s.by[owner] == 0 {
		delete(s.by, owner)
	}
}
