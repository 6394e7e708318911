// Package reliability has tests that compare the confidence of prices with the truth. For
// each decile of confidence they log the share of intervals within a tenth of the truth.
// docs/pricing.md shows the output. They read the directory data of GRIDHOOK_TESTDATA.
package reliability
