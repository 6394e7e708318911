package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// inspect reads every page of a file and compares the content with its seal.
//
// It reads the pages itself (the format is that of bbolt's internal/common):
// bbolt trusts them, so that a page which leads back to itself or beyond the
// file makes it run for ever, or panic where nobody can recover.
func inspect(path string) (err error) {
	in, err := newInspector(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.file.Close()) }()
	if err := in.tree(in.root, in.bucket, nil, nil); err != nil {
		return err
	}
	if in.sum != in.sealed {
		return fmt.Errorf("%w: its content is not what was written last", ErrDamaged)
	}
	return nil
}

// inspector walks a file.
type inspector struct {
	file     *os.File
	pageSize int
	pages    uint64 // the file has pages 0 to pages-1
	root     uint64
	seen     map[uint64]bool
	sum      uint64 // of what was read
	sealed   uint64 // as the file's own bucket says
}

// newInspector lets bbolt choose between the two meta pages, which have
// checksums, and takes from it where the tree begins.
func newInspector(path string) (in *inspector, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	in = &inspector{pageSize: db.Info().PageSize, seen: map[uint64]bool{}}
	err = db.View(func(tx *bbolt.Tx) error {
		in.root = uint64(tx.Cursor().Bucket().Root())
		in.pages = uint64(tx.Size()) / uint64(in.pageSize) //nolint:gosec // both are sizes
		return nil
	})
	if err == nil {
		in.file, err = os.Open(path) //nolint:gosec // the path is ours
	}
	return in, err
}

const (
	pageHeader    = 16 // id (8), flags (2), count (2), overflow (4)
	elementHeader = 16
	bucketHeader  = 16 // root (8), sequence (8)
	branchFlag    = 1
	leafFlag      = 2
	bucketElement = 1
)

func damaged(id uint64, what string) error { return fmt.Errorf("%w: page %d %s", ErrDamaged, id, what) }

// page reads a page and what overflows it, once.
func (in *inspector) page(id uint64) ([]byte, error) {
	head := make([]byte, in.pageSize)
	at := int64(id) * int64(in.pageSize) //nolint:gosec // id is below pages
	if id < 2 || id >= in.pages {
		return nil, damaged(id, "is not in the file")
	}
	if _, err := in.file.ReadAt(head, at); err != nil {
		return nil, damaged(id, err.Error())
	}
	overflow := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head) != id || overflow >= in.pages-id {
		return nil, damaged(id, "has a wrong header")
	}
	for i := id; i <= id+overflow; i++ {
		if in.seen[i] {
			return nil, damaged(i, "is in two places")
		}
		in.seen[i] = true
	}
	if overflow == 0 {
		return head, nil
	}
	whole := make([]byte, int(overflow+1)*in.pageSize) //nolint:gosec // it is in the file
	if _, err := io.ReadFull(io.NewSectionReader(in.file, at, int64(len(whole))), whole); err != nil {
		return nil, damaged(id, err.Error())
	}
	return whole, nil
}

// element is one entry of a page: a child of a branch, or a key and its value.
type element struct {
	flags      uint32
	child      uint64
	key, value []byte
}

// tree walks the pages under one, whose keys must lie between low and high, and
// hands the keys and values to leaf. high nil means no bound.
func (in *inspector) tree(id uint64, leaf func(element) error, low, high []byte) error {
	p, err := in.page(id)
	if err != nil {
		return err
	}
	return in.node(id, p, leaf, low, high)
}

func (in *inspector) node(id uint64, p []byte, leaf func(element) error, low, high []byte) error {
	flags, count := binary.NativeEndian.Uint16(p[8:]), int(binary.NativeEndian.Uint16(p[10:]))
	if flags != branchFlag && flags != leafFlag || len(p) < pageHeader+count*elementHeader {
		return damaged(id, "is neither branch nor leaf")
	}
	elements := make([]element, count)
	for i := range elements {
		e, ok := readElement(p[pageHeader+i*elementHeader:], flags)
		inOrder := bytes.Compare(e.key, low) >= 0 && (i == 0 || !bytes.Equal(e.key, low)) && (high == nil || bytes.Compare(e.key, high) < 0)
		if !ok || !inOrder {
			return damaged(id, "has its keys in disorder")
		}
		elements[i], low = e, e.key
	}
	for i, e := range elements {
		var err error
		switch {
		case flags == leafFlag:
			err = leaf(e)
		case i+1 < count:
			err = in.tree(e.child, leaf, e.key, elements[i+1].key)
		default:
			err = in.tree(e.child, leaf, e.key, high)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readElement reads the element at the beginning of b, whose key and value
// follow somewhere behind it.
func readElement(b []byte, flags uint16) (e element, ok bool) {
	var at, key, value uint64
	if flags == branchFlag {
		at, key = uint64(binary.NativeEndian.Uint32(b)), uint64(binary.NativeEndian.Uint32(b[4:]))
		e.child = binary.NativeEndian.Uint64(b[8:])
	} else {
		e.flags, at = binary.NativeEndian.Uint32(b), uint64(binary.NativeEndian.Uint32(b[4:]))
		key, value = uint64(binary.NativeEndian.Uint32(b[8:])), uint64(binary.NativeEndian.Uint32(b[12:]))
	}
	if at+key+value > uint64(len(b)) {
		return e, false
	}
	e.key, e.value = b[at:at+key], b[at+key:at+key+value]
	return e, true
}

// bucket walks one of the file's buckets: a tree, or a page within its entry
// when it is small.
func (in *inspector) bucket(entry element) error {
	name := string(entry.key)
	if entry.flags != bucketElement || len(entry.value) < bucketHeader {
		return fmt.Errorf("%w: %q is no bucket", ErrDamaged, name)
	}
	leaf := func(e element) error {
		switch {
		case e.flags != 0:
			return fmt.Errorf("%w: bucket %q has an entry of another sort", ErrDamaged, name)
		case name != string(ownBucket):
			in.sum += hash(name, e.key, e.value)
		case bytes.Equal(e.key, sumKey) && len(e.value) == 8:
			in.sealed = binary.BigEndian.Uint64(e.value)
		}
		return nil
	}
	if root := binary.NativeEndian.Uint64(entry.value); root != 0 {
		return in.tree(root, leaf, nil, nil)
	}
	page := entry.value[bucketHeader:]
	if len(page) < pageHeader {
		return fmt.Errorf("%w: bucket %q is cut off", ErrDamaged, name)
	}
	return in.node(0, page, leaf, nil, nil)
}
