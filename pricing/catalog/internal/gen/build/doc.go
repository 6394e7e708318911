// Package build makes the plans of package catalog from their sources: the
// open-energy-tariffs collection, PG&E's tariff sheets, and plans written by hand. Only
// the generator uses it, never the service.
package build
