package storage

import "context"

// Compact removes records that older versions stored in the log of record without an
// expiry. It moves feedback to its own stream and deletes expired requests. It has the
// log forget tombstones without an expiry. Repeated or concurrent runs do no harm.
// Errors: as of View, Rewrite and FeedbackLog.
func (s *Store) Compact(ctx context.Context, feedback FeedbackLog) error {
	orgs := []string{Shared}
	err := s.View(func(v View) error {
		return v.Scan(KindOrganization, Shared, "", func(r Record) bool { orgs = append(orgs, r.ID); return true })
	})
	for _, org := range orgs {
		for _, kind := range Kinds() {
			if err == nil {
				err = s.compact(ctx, kind, org, feedback)
			}
		}
	}
	return err
}

// compact processes one kind of an organization in batches.
func (s *Store) compact(ctx context.Context, kind Kind, org string, feedback FeedbackLog) error {
	for after, more := "", true; more; {
		var gone []Ref
		var move []Feedback
		err := s.View(func(v View) error {
			more = false
			return v.Scan(kind, org, after, func(r Record) bool {
				if more = len(gone) == MaxBatch; more {
					return false
				}
				if after = r.ID; s.obsolete(v, r) {
					gone = append(gone, r.Ref)
				}
				if f, err := Decode[Feedback](r); err == nil && kind == KindFeedback {
					move = append(move, f)
				}
				return true
			})
		})
		if err != nil {
			return err
		}
		for i := range move {
			if err := feedback.PutFeedback(ctx, move[i]); err != nil {
				return err
			}
		}
		if err := s.Rewrite(ctx, func(View) (Revised, error) { return Revised{Gone: gone, Whole: true}, nil }); err != nil {
			return err
		}
	}
	return nil
}

// obsolete reports whether Compact may remove a record. The record is live and its kind
// is now stored elsewhere, or it is a tombstone without an expiry that nothing needs.
func (s *Store) obsolete(v View, r Record) bool {
	switch {
	case r.Deleted && !r.Expires.IsZero():
		return false
	case r.Deleted && !RetentionOf(r.Kind).Outlived:
		return true
	case r.Deleted && (r.Kind == KindSolar || r.Kind == KindUsage || r.Kind == KindHomeMarket):
		home, err := find(v, HomeRef(r.Org, r.ID))
		return err == nil && !home.live()
	case r.Deleted:
		return false
	case r.Kind == KindOnce:
		o, err := Decode[Once](r)
		return err != nil || !o.Known(s.Now())
	}
	return r.Kind == KindFeedback
}
