package storage

// outlived reports whether a tombstone of the kind may be the newest change of an entity
// that remains. For example, a home has a newer signal after its solar was deleted, not its
// earlier signal again. The log stores such a tombstone as long as the entity remains. It
// removes any other tombstone after DeletionsAge.
func (k Kind) outlived() bool {
	switch k {
	case KindRatePlan, KindPlanEvent, KindMarketSeries, KindSolar, KindUsage, KindMeasuredLoad, KindHomeMarket:
		return true
	}
	return false
}
