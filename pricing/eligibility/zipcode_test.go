package eligibility_test

import (
	"regexp"
	"testing"

	"github.com/gridhook/gridhook/pricing/eligibility"
)

func TestNormalize_Zipcodes(t *testing.T) {
	for zipcode, want := range map[string]string{
		"60614": "60614", "60614-1234": "60614", "60614 1234": "60614", "2138": "02138", "2138-0001": "02138",
		"606": "606", "606-1234": "606", "501": "501", "0501": "00501", "7": "00007", "12": "00012",
		"000060614": "60614", "000606": "00606", "0": "00000",
	} {
		if got, ok := eligibility.Normalize(zipcode); !ok || got != want {
			t.Errorf("%q becomes %q, %v, want %q", zipcode, got, ok, want)
		}
	}
	for _, zipcode := range []string{
		"", "-", "a", "6061a", "160614", "0000060614", "60614-", "60614-123", "60614-12345", "60614--1234", " 60614",
		"60614 ", "٦٠٦١٤", "60614\n", "606.14", "-1234",
	} {
		if got, ok := eligibility.Normalize(zipcode); ok {
			t.Errorf("%q is accepted as %q", zipcode, got)
		}
	}
}

// The height of a zipcode, in meters, selects the weather station of its homes.
func TestLocate_Height(t *testing.T) {
	for zipcode, want := range map[string]float64{"80202": 1600, "70112": 0, "80435": 3000} {
		place, ok := eligibility.Locate(zipcode)
		if !ok || !place.HeightKnown || place.Height < want-150 || place.Height > want+150 {
			t.Errorf("%s is at %+v, want about %v m", zipcode, place, want)
		}
	}
}

// servicePattern is the pattern of the service document.
var servicePattern = regexp.MustCompile(`^(?:0{0,4}[0-9]{1,5}|[0-9]{3})(?:[-\s][0-9]{4})?$`)

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"60614", "2138", "606", "60614-1234", "000060614", "00901", "x", "", "6061\x00", "99999 0000"} {
		f.Add(seed)
	}
	c := checker(f, nil)
	f.Fuzz(func(t *testing.T, zipcode string) {
		code, ok := eligibility.Normalize(zipcode)
		if ok != servicePattern.MatchString(zipcode) {
			t.Fatalf("%q: form accepted is %v, the service's pattern says otherwise", zipcode, ok)
		}
		if ok {
			if again, ok := eligibility.Normalize(code); !ok || again != code {
				t.Fatalf("%q becomes %q and then %q", zipcode, code, again)
			}
		}
		r, _ := c.Check(zipcode)
		if r.Reason == "" || r.DemandResponsePrograms == nil {
			t.Fatalf("%q: %+v", zipcode, r)
		}
		if _, found := eligibility.Locate(zipcode); r.Supported && !found {
			t.Fatalf("%q is supported but has no location", zipcode)
		}
	})
}
