// Package solar models the solar system of a home: where the sun stands, what an
// array puts out in a typical year, and how likely the home is to export at a
// time of the day and of the year.
//
// The output follows PVWatts version 5 (Dobos, PVWatts Version 5 Manual,
// NREL/TP-6A20-62641, 2014), with the transposition of Perez et al. (1990) and
// the module temperature of Faiman (2008).
//
// It may import the standard library and package climate only. Angles are in
// degrees, azimuths clockwise from north, irradiances in W/m2, powers in kW.
package solar

//go:generate go run ./internal/gen
