// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>

namespace tutti::detail {

/// What was said already, so that it is not said again. Thread-safe.
template <class Key>
class Said {
 public:
  bool first_time(const Key& key) {
    const std::lock_guard lock(mutex_);
    return said_.insert(key).second;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    said_.clear();
  }

 private:
  std::mutex mutex_;
  std::set<Key> said_;
};

}  // namespace tutti::detail
