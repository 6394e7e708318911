// Package bill calculates what a home pays by a tariff for the energy it drew and
// sent out: energy by period and tier with riders and taxes, fixed and minimum
// charges, net metering with its yearly settlement, net billing and feed-in.
//
// It is a calculation on metered or typical series, for comparing plans and for
// checking tariffs: no ledger, no due dates, no demand charges.
//
// The package is pure and may import the standard library and package pricing
// only. Money is US dollars, energy is kWh.
package bill
