// Package greenbutton reads metered energy from Green Button files: Atom feeds of the
// Energy Services Provider Interface (NAESB REQ.21, ESPI), as utilities offer them for
// download.
//
// greenbutton is pure. It imports no other package of the product.
package greenbutton
