package app

// HoldBackups is as if a backup were being made, until release is called.
func (a *App) HoldBackups() (release func()) {
	a.backingUp.Lock()
	return a.backingUp.Unlock
}
