package rest

import "testing"

// A response of a stored change is counted and never refused.
func TestUnread_StoredChange(t *testing.T) {
	const size = 100 << 10
	u := unread{max: share * size, byOrg: map[string]int64{}}
	first, err := u.hold("acme", size, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.hold("acme", size, false); err == nil {
		t.Error("a second response of a reading operation is within the share")
	}
	second, err := u.hold("acme", size, true)
	if err != nil || u.total != 2*size {
		t.Errorf("a response of a stored change: %v, %d bytes counted", err, u.total)
	}
	second()
	first()
	if u.total != 0 || len(u.byOrg) != 0 {
		t.Errorf("%d bytes are left", u.total)
	}
}
