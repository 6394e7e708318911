// Package boltfile opens the bbolt files of materialized views. Such a file is a cache of
// a stream. It is written without fsync. An untrusted file is renamed and rebuilt from
// the stream.
//
// After each transaction the package sets the file's modification time to a seal. The
// seal is a time in the past that stands for this boot of the kernel. After a clean stop
// the seal stands for any boot.
//
// Another program, an interrupted transaction or a power failure leaves another time, or
// the seal of another boot. Open trusts a sealed file without reading it. Open never
// passes an unsealed file to bbolt: bbolt panics on damage where nobody can recover.
//
// A seal does not detect a disk that changes bytes by itself. Nor does it detect a
// program that writes to the file and then restores the modification time. After a reader
// has returned ErrDamaged, the next Open rebuilds the file.
package boltfile
