//go:build !linux

package main

import "errors"

type disk struct{ mount string }

var errNoDisk = errors.New("it needs Linux")

func newDisk(string) (*disk, error)             { return nil, errNoDisk }
func newSmallDisk(string, int64) (*disk, error) { return nil, errNoDisk }
func (*disk) cut() error                        { return errNoDisk }
func (*disk) again() error                      { return errNoDisk }
func (*disk) unmount() error                    { return errNoDisk }
func (*disk) remove() error                     { return errNoDisk }
