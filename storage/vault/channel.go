package vault

import "github.com/gridhook/gridhook/storage"

// SealChannel seals the URL of a notification channel in the clear. before is the stored
// channel, whose sealed form stays if the URL is the same.
func (v *Vault) SealChannel(c, before *storage.Channel) (err error) {
	clear := c.Address
	c.SealedAddress = ""
	if c.Address = storage.MaskAddress(c.Kind, clear); c.Address != clear {
		c.SealedAddress, err = v.Reseal(c.OrganizationID, c.ID, before.SealedAddress, clear)
	}
	return err
}

// OpenChannel replaces the masked address with the address in the clear.
func (v *Vault) OpenChannel(c *storage.Channel) error {
	if c.SealedAddress == "" {
		return nil
	}
	clear, err := v.Open(c.OrganizationID, c.ID, c.SealedAddress)
	if err == nil {
		c.Address, c.SealedAddress = clear, ""
	}
	return err
}
