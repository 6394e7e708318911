package importer

import (
	"cmp"
	"encoding/json"

	"github.com/gridhook/gridhook/storage"
)

type hvacDeviceLine struct {
	_ struct{} `required:"resource,organizationId,deviceId,homeId"`

	lineHead
	storage.HVACDevice
}

// prepare keeps the stored results of optimization runs and the linked flag, which the
// partner sets, unless the line sets them. Importing the same line again therefore changes nothing.
func (l *hvacDeviceLine) prepare(c *check) storage.Entity {
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	c.p.Check(objectOrNull(l.LastSetPointSchedule), "lastSetPointSchedule", "must be an object or null")
	c.p.Check(objectOrNull(l.LastOptimizationRunData), "lastOptimizationRunData", "must be an object or null")
	stored, found := replaced[storage.HVACDevice](c, l.HVACDevice.Ref())
	l.Keep(&stored, storage.Time{Time: c.now})
	c.keep(found, "linked", &l.Linked, stored.Linked)
	return &l.HVACDevice
}

// objectOrNull reports whether decoded JSON is absent, an object or null. The first byte
// of valid JSON determines its type.
func objectOrNull(raw json.RawMessage) bool {
	return len(raw) == 0 || raw[0] == '{' || raw[0] == 'n'
}

type userPreferencesLine struct {
	_ struct{} `required:"resource,organizationId,deviceId,name"`

	lineHead
	DeviceID string `json:"deviceId" pattern:"id"`
	storage.UserPreferences
}

func (l *userPreferencesLine) prepare(c *check) storage.Entity {
	l.UserPreferences.DeviceID, l.Base.OrganizationID = l.DeviceID, l.OrganizationID
	c.owner(&l.lineHead)
	c.refersTo(storage.KindHVACDevice.Ref(l.OrganizationID, l.DeviceID), "deviceId")
	return &l.UserPreferences
}

type onboardingLine struct {
	_ struct{} `required:"resource,organizationId,homeId"`

	lineHead
	storage.Onboarding
}

// prepare uses the home's identifier for a flow without an identifier. A home has only
// one flow. The fields that the line does not name keep their stored values, because the
// user advances the flow.
func (l *onboardingLine) prepare(c *check) storage.Entity {
	if stored, found := replaced[storage.Onboarding](c, storage.KindOnboarding.Ref(l.OrganizationID, l.HomeID)); found {
		over := onboardingLine{Onboarding: stored}
		_, _ = c.Decode(c.l.text, &over, "line") // the first decoding has reported the errors
		l.Onboarding = over.Onboarding
	}
	l.ID = cmp.Or(l.ID, l.HomeID)
	c.ofHome(&l.lineHead, &l.Base, l.HomeID)
	return &l.Onboarding
}
